-- What is known of this database as a whole: since when it has seen the sandbox, whose money is none.
create table installation (
  one boolean primary key default true check (one),
  sandbox_since timestamptz
);
-- The demo customer comes with the sandbox only.
insert into installation (sandbox_since)
select min(created_at) from customer where email = 'demo@letspanel.example'
having count(*) > 0;
