-- What of an import was judged, so that its job creates that and no more (decision 157).
-- The lines that become accounts, and a digest of their rows as they were read then. An import that
-- a release before this one began has neither; its job stops.
alter table customer_import add column fresh_lines int[];
alter table customer_import add column fresh_digest text;
-- The last line of the file that was worked on.
alter table customer_import add column done_line int not null default 0;
-- When the job stopped for good, because it read the file differently; null: it did not.
alter table customer_import add column stopped_at timestamptz;
-- Which asking for letters the customer was considered for, also when they got none.
alter table imported_customer add column considered_at timestamptz;
update imported_customer set considered_at = written_at;
-- Whether a balance came with the customer: the letter says so.
alter table imported_customer add column had_balance boolean not null default false;
update imported_customer i set had_balance = exists (
  select from ledger_transfer t where t.key = 'opening:' || i.import_id || ':' || i.line);
