/** Whether this page can use passkeys: they belong to a host name, never to an address. */
export const passkeysWork = (): boolean =>
  typeof PublicKeyCredential === 'function' && !/^[\d.]+$|:/.test(location.hostname)
