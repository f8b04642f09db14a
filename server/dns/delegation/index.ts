/**
 * The check of a domain's delegation, by querying the parent zone's own servers; and advice to its
 * owner.
 */
export {
  createDelegationCheck,
  type DelegationCheck,
  type DelegationOptions,
  type Verdict,
} from './check.ts'
