import { join } from 'node:path'

/** Where the built views are. In the bundle, this module names the same folder from there. */
export const viewsFolder = join(import.meta.dirname, '../../dist/apps')
