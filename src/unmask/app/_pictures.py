"""Pictures of objects: made small, and written anew, so that nothing of the file that came in goes on."""

from __future__ import annotations

import io
from pathlib import Path

# Longest side in pixels, and most pixels of a picture that is opened at all.
SIDE = 256
MOST_PIXELS = 50_000_000


def thumbnail(file: Path | bytes, name: str) -> bytes:
    """Return a picture as a small PNG; a ValueError if it is none."""
    try:
        from PIL import Image, ImageOps, UnidentifiedImageError
    except ImportError:
        raise ValueError("pictures need Pillow; install it with: pip install 'unmask[app]'.") from None
    source = io.BytesIO(file) if isinstance(file, bytes) else file
    try:
        with Image.open(source, formats=("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")) as picture:
            if picture.width * picture.height > MOST_PIXELS:
                raise ValueError(f"{name}: {picture.width} × {picture.height} pixels are too many; make it smaller.")  # noqa: RUF001
            upright = ImageOps.exif_transpose(picture).convert("RGBA")
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError):
        raise ValueError(f"{name} is no picture that can be read; use PNG or JPEG.") from None
    upright.thumbnail((SIDE, SIDE))
    target = io.BytesIO()
    upright.save(target, "PNG", optimize=False)
    return target.getvalue()
