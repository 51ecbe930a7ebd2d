"""The page that tells what a study asked and found."""
