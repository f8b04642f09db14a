// A stand-in for WordPress that boots in a twentieth of a second, for all tests that are not about
// PHP. The container around it (channel, HTTP, files, sign-in links, restarts) is the real one.
import './src/without-undici.js'

await import('./src/simulated.js')
