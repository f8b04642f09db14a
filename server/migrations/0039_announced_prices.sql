-- A dearer renewal that was announced: { offer, actsAt }; the price of the first renewal from then on.
alter table subscription add column rise jsonb;
