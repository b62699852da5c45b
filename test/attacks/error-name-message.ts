// Tries to throw an error whose name and message are getters
class Evil extends Error { get name(): any { return { toString() { throw 1 } } } get message(): any { for (let i = 0; i < 10; i++) console.log("getter"); throw new Error("inside") } get stack(): any { throw new Error("inside") } get cause(): any { throw new Error("inside") } }
throw new Evil()
