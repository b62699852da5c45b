// Tries to steer the guest by the array iterator
(Array.prototype as any)[Symbol.iterator] = function () { return { next: () => ({ done: false, value: "forged" }) } }
Object.getPrototypeOf([][Symbol.iterator]?.() ?? {}).next = () => ({ done: true })
return await tools.echo([1, 2])
