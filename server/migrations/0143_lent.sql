-- no-transaction
-- What was lent and is owed, the longest due first.
create index concurrently if not exists wallet_debt_lent on wallet_debt (due_at, key)
  where kind = 'lent' and settled < amount;
