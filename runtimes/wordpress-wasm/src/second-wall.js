// Restricts this program itself, in case PHP exploits a fault in php-wasm. Its starter applies
// Node's permission model (README). These two functions make php-wasm work under it, and close what
// must stay open until PHP has booted.
import fs from 'node:fs'
import process from 'node:process'

/**
 * php-wasm reads the values of open()'s flags by process.binding('constants'), which the permission
 * model refuses entirely. node:fs has them as well.
 */
export function answerConstantsOnly() {
  process.binding = (name) => {
    if (name === 'constants') return { fs: fs.constants }
    throw Object.assign(new Error(`process.binding('${name}') is not for this program`), {
      code: 'ERR_ACCESS_DENIED',
    })
  }
}

/**
 * Refuses to load native code from now on. php-wasm needs one addon (locks between processes), so
 * the permission model must allow addons at the start; it is loaded by the time PHP has booted.
 */
export function refuseNativeCode() {
  process.dlopen = () => {
    throw Object.assign(new Error('native code is not loaded any more'), {
      code: 'ERR_ACCESS_DENIED',
    })
  }
}
