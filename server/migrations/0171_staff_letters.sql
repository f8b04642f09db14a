-- Letters to the staff (decision 151).
-- When its proposer was told that a proposal ended without approval. What ended before this stays
-- untold.
alter table operator_proposal add column told_at timestamptz;
update operator_proposal set told_at = created_at
  where act_seq is null and (rejected_at is not null or expires_at <= now());
-- When the staff was told of an open ticket; null: not since the staff answered or closed it.
alter table ticket add column staff_told_at timestamptz;
-- When the staff was reminded of the day on which evidence is due.
alter table payment_dispute add column due_told_at timestamptz;
-- Whether the member gets letters about tickets and disputes.
alter table staff add column gets_letters boolean not null default true;
-- Tickets of members who were disabled are nobody's; the act that disables one says so from now on.
update ticket set assignee_id = null
  where assignee_id in (select id from staff where disabled_at is not null);
