"""What can be asked of cells with probabilities. One file per question; `histogram` is what they are asked of."""
