/** The operator's settings, read and validated before anything is opened. */
import path from 'node:path'
import { CatalogFault, loadCatalog, type Catalog } from './catalog/index.ts'
import { ConfigFault, readConfig, type Config } from './config.ts'
import { driverFaults } from './drivers.ts'
import { misspelt } from './misspelt.ts'
import { formerNames } from './renamed-settings.ts'
import { variables } from './variables/index.ts'

const isNew =
  'WORDPRESS_RUNTIME=docker is new: try it with sites of your own first (see docs/operate.md, ' +
  '"Sites in containers").'

/** Configuration and catalogue; or all their faults, one sentence each. */
export function readSettings(env: NodeJS.ProcessEnv):
  | {
      readonly config: Config
      readonly catalog: Catalog
      /** Former names, probable misspellings and what is new, one sentence each. */
      readonly warnings: readonly string[]
    }
  | { readonly faults: readonly string[] } {
  const faults: string[] = []
  let config: Config | undefined
  let catalog: Catalog | undefined
  try {
    config = readConfig(env)
    faults.push(...driverFaults(config))
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error
    faults.push(...error.faults)
  }
  try {
    catalog = loadCatalog(config?.CATALOG ?? path.resolve('catalog.yaml'))
  } catch (error) {
    if (!(error instanceof CatalogFault)) throw error
    faults.push(...error.message.split('\n'))
  }
  return config && catalog && faults.length === 0
    ? {
        config,
        catalog,
        warnings: [
          ...formerNames(env),
          ...misspelt(env, Object.keys(variables)),
          ...(config.WORDPRESS_RUNTIME === 'docker' ? [isNew] : []),
        ],
      }
    : { faults }
}
