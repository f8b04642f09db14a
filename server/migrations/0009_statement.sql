-- The times of an account's entries never go back, so that a period is one unbroken stretch of its chain. A clock may jump and a posting may
-- wait for its locks; the later moment of the two is written.
alter table ledger_account add column last_at timestamptz not null default '-infinity';
update ledger_account a set last_at = t.created_at
from ledger_entry e join ledger_transfer t on t.id = e.transfer_id
where e.account_id = a.id and e.version = a.version;

create or replace function ledger_post(p_key text, p_kind text, p_details jsonb, p_at timestamptz, p_codes text[], p_amounts bigint[], p_reverses bigint default null)
returns table (outcome text, transfer_id bigint) language plpgsql as $$
declare
  v_found int;
  v_at timestamptz;
  v_transfer bigint;
  v_known bytea;
  v_print bytea := sha256(convert_to(p_kind || '|' || array_to_string(p_codes, ',') || '|' || array_to_string(p_amounts, ','), 'UTF8'));
begin
  select count(*), greatest(p_at, max(last_at)) into v_found, v_at
  from (select last_at from ledger_account where code = any (p_codes) order by id for update) locked;
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
  values (p_key, p_kind, p_details, v_print, p_reverses, v_at) returning id into v_transfer;

  with moved as (
    update ledger_account a
    set balance = a.balance + l.amount,
        version = a.version + 1,
        last_at = v_at,
        head_hash = sha256(a.head_hash || convert_to(ledger_entry_text(a.code, a.version + 1, p_key, p_kind, p_details, l.amount, a.balance + l.amount, v_at), 'UTF8'))
    from unnest(p_codes, p_amounts) as l (code, amount)
    where a.code = l.code
    returning a.id, l.amount, a.balance, a.version, a.head_hash
  )
  insert into ledger_entry (transfer_id, account_id, amount, ending_balance, version, hash)
  select v_transfer, m.id, m.amount, m.balance, m.version, m.head_hash from moved m;

  return query select 'posted', v_transfer;
end $$;

-- The version of an account's newest entry before a moment; 0 when there is none. Versions are dense and times never go back, so halving finds it;
-- every other step looks where the moment would stand if the entries were spread evenly, which is near it in most wallets.
create function ledger_version_before(p_account bigint, p_moment timestamptz) returns bigint language plpgsql stable as $$
declare
  v_low bigint := 0;
  v_low_at timestamptz;
  v_high bigint;
  v_high_at timestamptz;
  v_middle bigint := 1;
  v_at timestamptz;
  v_halve boolean := false;
begin
  select version, last_at into strict v_high, v_high_at from ledger_account where id = p_account;
  if v_high = 0 or v_high_at < p_moment then
    return v_high;
  end if;
  -- Below, the entry at v_low (if any) lies before the moment and the one at v_high does not.
  while v_high - v_low > 1 or v_low = 0 loop
    if v_low > 0 then
      v_middle := case
        when v_halve or v_high_at <= v_low_at then (v_low + v_high) / 2
        else v_low + floor((v_high - v_low) * extract(epoch from p_moment - v_low_at) / extract(epoch from v_high_at - v_low_at))::bigint
      end;
      v_middle := least(greatest(v_middle, v_low + 1), v_high - 1);
      v_halve := not v_halve;
    end if;
    select t.created_at into v_at from ledger_entry e join ledger_transfer t on t.id = e.transfer_id
    where e.account_id = p_account and e.version = v_middle;
    if v_at < p_moment then
      v_low := v_middle;
      v_low_at := v_at;
    elsif v_low = 0 then
      return 0;
    else
      v_high := v_middle;
      v_high_at := coalesce(v_at, v_high_at);
    end if;
  end loop;
  return v_low;
end $$;

-- What came in, or what went out, newest first, however rare it is among the other.
create index ledger_entry_in on ledger_entry (account_id, version) where amount > 0;
create index ledger_entry_out on ledger_entry (account_id, version) where amount < 0;
-- The number that a customer quotes: an invoice's, or a top-up's code.
create index ledger_transfer_reference on ledger_transfer ((upper(coalesce(details ->> 'invoice', details ->> 'code'))));

-- How far each account's chain has been checked, and what stood there. Forgetting a row only means that it is checked again from its first entry.
create table ledger_checked (
  account_id bigint primary key references ledger_account (id),
  version bigint not null,
  balance bigint not null,
  hash bytea not null
);
-- What the last checks found; one row, read by the metrics of every process.
create table ledger_check (
  one boolean primary key default true check (one),
  findings int not null default 0,
  -- Whether the newest check could not be carried out.
  failed boolean not null default false,
  -- When a check last ran to its end and found nothing.
  good_at timestamptz
);
insert into ledger_check default values;

-- What a line's amount was computed from, frozen with it (contract/pricing.ts, Basis). Null where the line says everything itself.
alter table invoice_line add column basis jsonb;
