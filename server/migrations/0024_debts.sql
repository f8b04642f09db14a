-- What a chargeback took beyond what the wallet held, until it is settled: by money that comes back for what had been paid with it, or by the
-- chargeback being won.
create table wallet_debt (
  -- The ledger's key of the posting that made it.
  key text primary key,
  customer_id uuid not null references customer (id),
  -- The ledger's account on which it stands.
  account text not null,
  currency text not null,
  amount bigint not null check (amount > 0),
  settled bigint not null default 0 check (settled between 0 and amount),
  created_at timestamptz not null
);
create index wallet_debt_open on wallet_debt (customer_id) where settled < amount;

insert into wallet_debt (key, customer_id, account, currency, amount, created_at)
select t.key, p.customer_id, a.code, a.currency, -e.amount, t.created_at
from ledger_transfer t
join ledger_entry e on e.transfer_id = t.id
join ledger_account a on a.id = e.account_id and a.code like 'receivable:%'
join payment_reversal r on r.kind <> 'restored'
join payment p on p.id = r.payment_id and t.key = p.driver || ':' || r.movement || ':' || r.kind
where t.kind = 'chargeback' and e.amount < 0
  and not exists (select from payment_reversal w where w.payment_id = r.payment_id and w.movement = r.movement and w.kind = 'restored');
