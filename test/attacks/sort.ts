// Tries to spend its time in native code that calls back
return [5, 3].concat(Array.from({ length: 200_000 }, (_, i) => -i)).sort(() => { for (let i = 0; i < 1e7; i++); return 1 }).length
