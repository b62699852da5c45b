import { overContainers } from "./Containers.ts"

overContainers("python", "Python in containers")
