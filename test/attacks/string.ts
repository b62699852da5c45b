// Tries to steer the guest by String.prototype
for (const key of Reflect.ownKeys(String.prototype)) if (key !== "constructor" && key !== "length") try { (String.prototype as any)[key] = () => "forged" } catch {}
console.log("real")
throw new Error("real")
