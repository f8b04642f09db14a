-- How much a customer whom the operator trusts may owe, and for how long (decision 127).
create table credit_line (
  customer_id uuid primary key references customer (id) on delete cascade,
  -- That of the wallet.
  currency text not null,
  -- Minor units.
  credit_limit bigint not null check (credit_limit > 0),
  term_days int not null check (term_days between 1 and 90),
  changed_at timestamptz not null
);
-- What was lent on it stands beside what chargebacks left owed: later money settles both.
alter table wallet_debt add column kind text not null default 'chargeback';
-- Of what was lent only: the last second in which it is not overdue.
alter table wallet_debt add column due_at timestamptz;
-- When the customer is written to next about what was lent; null: not any more.
alter table wallet_debt add column write_at timestamptz;
alter table wallet_debt add constraint wallet_debt_kind check (
  case kind when 'lent' then due_at is not null
    when 'chargeback' then due_at is null and write_at is null else false end
) not valid;
