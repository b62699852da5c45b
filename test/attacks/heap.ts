// Tries to fill its heap
const all: any[] = []
for (;;) all.push({ text: "x" + all.length, more: [1, 2, 3] })
