-- no-transaction
-- Proposals that ended, or will, without approval, and whose proposers were not told of it.
create index concurrently if not exists operator_proposal_untold on operator_proposal (expires_at)
  where act_seq is null and told_at is null;
