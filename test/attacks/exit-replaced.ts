// Tries to replace exit and go on
process.exit = (() => {}) as any
(process as any).reallyExit = () => {}
process.exit(3)
return "went on"
