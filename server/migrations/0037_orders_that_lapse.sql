-- An invoice has its number from the moment it is paid or falls due: an order that is never paid uses none.
alter table invoice
  alter column number drop not null,
  -- When it got its number.
  add column issued_at timestamptz,
  -- Until when an order may be paid; null for everything else.
  add column lapses_at timestamptz;
update invoice set issued_at = created_at;
alter table invoice
  add constraint invoice_numbered check (
    (number is null) = (issued_at is null) and (number is not null or status in ('open', 'void'))
  );
-- A new one is of something. Those of before may stand at zero, so this is no constraint on rows.
create function invoice_is_of_something() returns trigger language plpgsql as $$
begin
  raise exception 'invoice % has a total of zero', new.id;
end $$;
create trigger invoice_is_of_something before insert on invoice
  for each row when (new.total = 0) execute function invoice_is_of_something();

-- Orders that wait since before there was a limit have the whole of it from now on.
update invoice set lapses_at = now() + interval '7 days' where kind = 'order' and status = 'open' and subscription_id is not null;
update subscription s set next_at = now() + interval '1 day', reminded = null
from invoice i where i.id = s.invoice_id and i.lapses_at is not null and s.status = 'pending';
create index subscription_unpaid_order on subscription (next_at) where status = 'pending';

-- A line's period and its seconds are settled when it is paid; with its number a document stands.
create function invoice_line_stands() returns trigger language plpgsql as $$
begin
  if exists (select from invoice where id = old.invoice_id and number is not null) then
    raise exception 'invoice % is issued: its lines stand', old.invoice_id;
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end $$;
create trigger invoice_line_stands before update or delete on invoice_line
  for each row execute function invoice_line_stands();
