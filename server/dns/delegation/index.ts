/**
 * Where a domain is delegated to, asked of the parent zone's own servers, and what to do about it.
 */
export {
  createDelegationCheck,
  type DelegationCheck,
  type DelegationOptions,
  type Verdict,
} from './check.ts'
