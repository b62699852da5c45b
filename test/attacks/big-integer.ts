// Tries to compute something enormous in one native call
return String(7n ** 40_000_000n).length
