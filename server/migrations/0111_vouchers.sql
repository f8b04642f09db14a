-- Vouchers put money into a wallet, once for each customer (decision 111).
create table voucher (
  id uuid primary key,
  number bigint generated always as identity,
  -- Capital letters and digits, as customers type it.
  code text not null unique,
  currency text not null,
  -- Minor units, for each use.
  amount bigint not null check (amount > 0),
  uses int not null default 0,
  max_uses int not null check (max_uses > 0),
  expires_at timestamptz,
  stopped_at timestamptz,
  created_at timestamptz not null,
  check (uses <= max_uses)
);
create index voucher_number on voucher (number);

create table voucher_use (
  voucher_id uuid not null references voucher (id),
  customer_id uuid not null references customer (id),
  at timestamptz not null,
  primary key (voucher_id, customer_id)
);
create index voucher_use_of on voucher_use (customer_id);
