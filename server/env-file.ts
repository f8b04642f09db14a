/**
 * The operator's `.env`. Every start and every command reads it, and a reload reads it again.
 * `ENV_FILE` names another file; a variable of the environment takes precedence over the file.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { parseEnv } from 'node:util'

const beside = path.resolve(import.meta.dirname, '..', '.env')

/** The file's path, whether or not it exists. */
export const envFileOf = (env: NodeJS.ProcessEnv): string =>
  env['ENV_FILE'] === undefined ? beside : path.resolve(env['ENV_FILE'])

/**
 * The settings of the file alone; empty without a file. Throws a sentence if ENV_FILE names a
 * missing one.
 */
export function readEnvFile(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const file = envFileOf(env)
  if (!existsSync(file)) {
    if (env['ENV_FILE'] === undefined) return {}
    throw new Error(`ENV_FILE ${file} does not exist.`)
  }
  return parseEnv(readFileSync(file, 'utf8'))
}

/** The environment, completed by the file. Throws as `readEnvFile` does. */
export const withEnvFile = (env: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({
  ...readEnvFile(env),
  ...env,
})
