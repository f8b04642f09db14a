-- no-transaction
-- What went with an account, when the trail is verified.
create index concurrently if not exists operator_act_erased on operator_act (erased_by, seq)
  where erased_by is not null;
