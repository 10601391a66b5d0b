"""The few loops that see every record or every candidate cell, on integer arrays only.

`plain` is written in NumPy and is complete by itself.
"""
