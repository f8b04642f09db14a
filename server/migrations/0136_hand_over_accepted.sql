-- no-transaction
-- Hand-overs go two years after they were accepted.
create index concurrently if not exists hand_over_accepted on hand_over (accepted_at)
  where accepted_at is not null;
