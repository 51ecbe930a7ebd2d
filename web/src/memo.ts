/** Return a function that computes nothing twice in a row: called with the same arguments again it returns the same result. */
export function memo<A extends unknown[], R>(compute: (...given: A) => R): (...given: A) => R {
  let last: { given: A; result: R } | null = null;
  return (...given) => {
    if (!last || given.some((value, k) => value !== last!.given[k])) last = { given, result: compute(...given) };
    return last.result;
  };
}
