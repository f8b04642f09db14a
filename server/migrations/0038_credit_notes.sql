-- Credit notes count in a series of their own: VN-CN-2026-000001.
alter table invoice_counter
  add column series text not null default 'invoice' check (series in ('invoice', 'credit')),
  drop constraint invoice_counter_pkey,
  add primary key (series, year, region_code);
alter table invoice_counter alter column series drop default;

-- The invoice that a credit note corrects, and of each of its lines the position of the line there.
alter table invoice
  add column corrects_id uuid references invoice (id),
  add constraint invoice_corrected check (kind = 'credit' or corrects_id is null);
alter table invoice_line add column corrects_position int;
create index invoice_corrections on invoice (corrects_id) where corrects_id is not null;

-- Those of before keep the numbers that they were issued with; what they correct is the newest
-- invoice of their subscription that was paid by then.
update invoice n
set corrects_id = (
  select i.id from invoice i
  where i.subscription_id = n.subscription_id and i.kind in ('order', 'renewal') and i.seq < n.seq
    and i.status in ('paid', 'refunded')
  order by i.seq desc limit 1
)
where n.kind = 'credit';
-- Every new one names its invoice; one of before may have none that is known.
create function credit_note_corrects() returns trigger language plpgsql as $$
begin
  raise exception 'the credit note % corrects no invoice', new.id;
end $$;
create trigger credit_note_corrects before insert on invoice
  for each row when (new.kind = 'credit' and new.corrects_id is null) execute function credit_note_corrects();
