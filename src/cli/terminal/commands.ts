/*
 * What the commands that call and show tools load, in one part of the bundle together with the service:
 * as parts of their own they would divide what every start loads into more files. What the start itself
 * needs, and the service does not, is passed in.
 */
export { tools } from '../../../tools/index.ts'
export { openService } from '../../service/service.ts'
export { complete } from './completion/complete.ts'
export { completionScripts, shells } from './completion/scripts.ts'
export { runCall } from './run-call.ts'
export { showTool, showTools } from './show-tools.ts'
export { processTerminal } from './terminal.ts'
