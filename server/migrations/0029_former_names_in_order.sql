-- In which order a server had its names, so that only the latest ten are kept from others. Those of before are in the order in which they were written.
alter table site_former_name add column seq bigint generated always as identity;
delete from site_former_name where name in (
  select name from (select name, row_number() over (partition by site_id order by seq desc) as age from site_former_name) as aged where age > 10
);
