-- An account that nobody activated is forgotten, and its wallet with it: one in which nothing was ever entered is no part of the ledger.
drop trigger ledger_account_kept on ledger_account;
create trigger ledger_account_kept before delete on ledger_account for each row when (old.version > 0) execute function ledger_is_append_only();
create index customer_never_activated on customer (created_at) where not active;
