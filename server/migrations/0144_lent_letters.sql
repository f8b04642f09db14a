-- no-transaction
-- Whom a letter about what was lent is due.
create index concurrently if not exists wallet_debt_letters on wallet_debt (write_at)
  where write_at is not null and settled < amount;
