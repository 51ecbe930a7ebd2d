"""Run all measurements of the workbench and print them."""

from .frames import measure_frames, measure_lasso

if __name__ == "__main__":
    frames = measure_frames()
    print("100,000 points drawn by the processor, frames per second (median of rounds)")
    print(f"  map {frames.ours:.1f}, bare WebGL2 {frames.webgl:.1f}: {frames.ratio:.1f} times as many (goal 1.5)")
    lasso = measure_lasso()
    print(f"lasso to selection {lasso.seconds:.3f} s: {lasso.frames:.1f} frames of {lasso.frame:.3f} s (goal 3)")
