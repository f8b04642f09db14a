-- Addresses and numbers that a customer had before, and when: letters to them are the customer's.
create table former_address (
  customer_id uuid not null references customer (id) on delete cascade,
  kind text not null check (kind in ('email', 'phone')),
  address text not null,
  from_at timestamptz not null,
  until_at timestamptz not null
);
create index former_address_customer on former_address (customer_id);
