-- Whoever signed in before networks were remembered is known from there, too. An IPv6 network is
-- counted as /64 by the code; it is known from the next sign-in on.
insert into known_origin (customer_id, origin, seen_at)
select customer_id, 'network:' || ip, max(at)
from sign_in
where outcome = 'succeeded' and at > now() - interval '90 days' and ip ~ '^\d+\.\d+\.\d+\.\d+$'
group by customer_id, ip
on conflict do nothing;
