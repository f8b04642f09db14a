/** Starts the operator's desk, a page of its own of which customers load nothing. */
import { QueryClientProvider } from '@tanstack/react-query'
import { createRoot } from 'react-dom/client'
import { startTheme } from '../ui/theme.ts'
import { Desk } from './Desk.tsx'
import './operator.css'
import { createDeskQueries } from './queries.ts'
import { SeeView } from './SeeView.tsx'

startTheme()
const root = document.getElementById('root')
if (!root) throw new Error('index.html has no #root')
createRoot(root).render(
  <QueryClientProvider client={createDeskQueries()}>
    {location.pathname === '/see' ? <SeeView /> : <Desk />}
  </QueryClientProvider>,
)
