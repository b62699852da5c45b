import { overContainers } from "./Containers.ts"

overContainers("typescript", "TypeScript in containers")
