-- From when the days of an unpaid renewal count, where the staff has put its next step off.
alter table subscription add column dunning_from timestamptz;
