-- Until when a worker has the name in hand; null: nobody has.
alter table certificate add column leased_until timestamptz;
