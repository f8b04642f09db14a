-- The double-entry ledger. Amounts are minor units; a positive entry raises an account's balance. A customer's wallet is what we owe the
-- customer, so a top-up is +wallet -gateway, a charge is -wallet +revenue. Every transfer sums to zero, entries are never changed or
-- deleted, a wallet never goes below zero, a key is used once, and each account's entries form a SHA-256 chain.
create table ledger_account (
  id bigint generated always as identity primary key,
  code text not null unique,
  customer_id uuid references customer (id),
  currency text not null check (currency in ('VND', 'AUD', 'USD', 'EUR')),
  may_be_negative boolean not null,
  balance bigint not null default 0,
  version bigint not null default 0,
  head_hash bytea not null default '\x',
  constraint ledger_account_never_negative check (may_be_negative or balance >= 0)
) with (fillfactor = 50);
create unique index ledger_account_customer on ledger_account (customer_id) where customer_id is not null;

create table ledger_transfer (
  id bigint generated always as identity primary key,
  key text not null unique,
  kind text not null,
  details jsonb not null,
  fingerprint bytea not null,
  reverses bigint unique references ledger_transfer (id),
  created_at timestamptz not null
);

create table ledger_entry (
  id bigint generated always as identity primary key,
  transfer_id bigint not null references ledger_transfer (id),
  account_id bigint not null references ledger_account (id),
  amount bigint not null check (amount <> 0),
  ending_balance bigint not null,
  version bigint not null,
  hash bytea not null,
  unique (account_id, version)
);
create index ledger_entry_transfer on ledger_entry (transfer_id);

create function ledger_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only', tg_table_name using errcode = 'LG001';
end $$;
create trigger ledger_entry_immutable before update or delete on ledger_entry for each row execute function ledger_is_append_only();
create trigger ledger_entry_kept before truncate on ledger_entry for each statement execute function ledger_is_append_only();
create trigger ledger_transfer_immutable before update or delete on ledger_transfer for each row execute function ledger_is_append_only();
create trigger ledger_account_kept before delete on ledger_account for each row execute function ledger_is_append_only();

-- All entries of a transfer come in one statement and must balance in it, in one currency.
create function ledger_statement_balances() returns trigger language plpgsql as $$
begin
  if exists (
    select from fresh e join ledger_account a on a.id = e.account_id
    group by e.transfer_id
    having sum(e.amount) <> 0 or count(*) < 2 or count(distinct a.currency) <> 1
  ) then
    raise exception 'a transfer does not balance' using errcode = 'LG002';
  end if;
  return null;
end $$;
create trigger ledger_entry_balances after insert on ledger_entry
  referencing new table as fresh for each statement execute function ledger_statement_balances();

-- The text that an entry's hash is made over, after the hash of the entry before it.
create function ledger_entry_text(p_account text, p_version bigint, p_key text, p_kind text, p_details jsonb, p_amount bigint, p_ending bigint, p_at timestamptz)
returns text language sql immutable parallel safe as $$
  select concat_ws('|', p_account, p_version, p_key, p_kind, p_details::text, p_amount, p_ending, (extract(epoch from p_at) * 1000000)::bigint)
$$;

-- Posts one transfer in one round trip. Accounts are locked in the order of their ids, so two postings never wait for each other in a ring.
-- outcome: posted; replayed (the same key and content stood already); conflict (the same key with other content); short (an account that
-- may not be negative would become so: nothing was written).
create function ledger_post(p_key text, p_kind text, p_details jsonb, p_at timestamptz, p_codes text[], p_amounts bigint[], p_reverses bigint default null)
returns table (outcome text, transfer_id bigint) language plpgsql as $$
declare
  v_found int;
  v_transfer bigint;
  v_known bytea;
  v_print bytea := sha256(convert_to(p_kind || '|' || array_to_string(p_codes, ',') || '|' || array_to_string(p_amounts, ','), 'UTF8'));
begin
  select count(*) into v_found from (select from ledger_account where code = any (p_codes) order by id for update) locked;
  if v_found <> cardinality(p_codes) or v_found <> cardinality(p_amounts) then
    raise exception 'unknown or repeated account among %', p_codes using errcode = 'LG003';
  end if;

  select t.id, t.fingerprint into v_transfer, v_known from ledger_transfer t where t.key = p_key;
  if found then
    return query select case when v_known = v_print then 'replayed' else 'conflict' end, v_transfer;
    return;
  end if;

  if exists (
    select from unnest(p_codes, p_amounts) as l (code, amount) join ledger_account a using (code)
    where not a.may_be_negative and a.balance + l.amount < 0
  ) then
    return query select 'short', null::bigint;
    return;
  end if;

  insert into ledger_transfer (key, kind, details, fingerprint, reverses, created_at)
  values (p_key, p_kind, p_details, v_print, p_reverses, p_at) returning id into v_transfer;

  with moved as (
    update ledger_account a
    set balance = a.balance + l.amount,
        version = a.version + 1,
        head_hash = sha256(a.head_hash || convert_to(ledger_entry_text(a.code, a.version + 1, p_key, p_kind, p_details, l.amount, a.balance + l.amount, p_at), 'UTF8'))
    from unnest(p_codes, p_amounts) as l (code, amount)
    where a.code = l.code
    returning a.id, l.amount, a.balance, a.version, a.head_hash
  )
  insert into ledger_entry (transfer_id, account_id, amount, ending_balance, version, hash)
  select v_transfer, m.id, m.amount, m.balance, m.version, m.head_hash from moved m;

  return query select 'posted', v_transfer;
end $$;
