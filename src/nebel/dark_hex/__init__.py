"""What only Dark Hex has: tables over its boards."""
