"""What scripts/plot draws with: reports.py reads, style.py holds the looks, the rest draws."""
