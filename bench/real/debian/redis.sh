# Talks to redis at port $1: six clients at once, so that its threads have something to write, then the command that ends it.
for try in $(seq 200); do (exec 3<>/dev/tcp/127.0.0.1/$1) 2>/dev/null && break; sleep 0.05; done
for client in 1 2 3 4 5 6; do (
    exec 3<>/dev/tcp/127.0.0.1/$1
    for round in 1 2 3 4 5; do
        printf 'SET own%d %d\r\nGET own%d\r\nINCR shared\r\nLPUSH list x\r\nDEL own%d\r\n' $client $round $client $client >&3
    done
    printf 'SET big%d %01000d\r\nUNLINK list\r\nFLUSHALL ASYNC\r\nQUIT\r\n' $client 0 >&3
    grep -c -e '^+OK' -e '^:' -e '^\$1' <&3
) & done
wait
exec 3<>/dev/tcp/127.0.0.1/$1
printf 'SHUTDOWN NOSAVE\r\n' >&3
cat <&3 >/dev/null
