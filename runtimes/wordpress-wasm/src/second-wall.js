// What this program itself may not do, whatever PHP makes of a fault in php-wasm. Whoever starts it
// gives it Node's permission model (README); these two fit php-wasm into it, and close what it must
// leave open until PHP has booted.
import fs from 'node:fs'
import process from 'node:process'

/**
 * php-wasm reads the numbers of open()'s flags by process.binding('constants'), which the
 * permission model refuses as a whole. They are in node:fs as well.
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
 * No native code is loaded from now on. php-wasm needs one addon (locks between processes), for
 * which the permission model must allow addons at the start; it is loaded by the time PHP has
 * booted.
 */
export function refuseNativeCode() {
  process.dlopen = () => {
    throw Object.assign(new Error('native code is not loaded any more'), {
      code: 'ERR_ACCESS_DENIED',
    })
  }
}
