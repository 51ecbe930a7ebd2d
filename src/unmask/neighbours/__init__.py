"""Maps of neighbours: affinities of t-SNE and UMAP, and the sampled descent that draws them."""

from ._affinities import TSNE, UMAP, Model, affinities, directed_affinities
from ._descent import Embedding, descend

__all__ = ["TSNE", "UMAP", "Embedding", "Model", "affinities", "descend", "directed_affinities"]
