"""The web workbench. Still empty."""
