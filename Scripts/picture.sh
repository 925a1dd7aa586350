#!/usr/bin/env bash
# Makes the pictures of the Inspector's page that README and the guide show, in light and dark, with the page as it is and traffic made up here.
# Needs Chromium and Python.
#
#   Scripts/picture.sh          writes Documentation.docc/Resources/inspector.png and inspector~dark.png
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
browser=$(command -v chromium chromium-browser google-chrome | head -1) || { echo "No Chromium is installed"; exit 1; }

python3 - >"$work/traffic.har" <<'PY'
import json,random,datetime,sys
random.seed(7)
t0=datetime.datetime(2026,11,22,9,41,2,tzinfo=datetime.timezone.utc)
def entry(i,start,method,url,status,st,mime,size,tm,text=None,req=None,state='finished',source='network',err=None,phase=None,attempts=None,ip='203.0.113.7',ver='h2',hdrs=None):
    dns,con,ssl,send,wait,recv=tm
    e={'startedDateTime':(t0+datetime.timedelta(milliseconds=start)).isoformat(timespec='milliseconds').replace('+00:00','Z'),
     'time':sum(x for x in (dns,con,send,wait,recv) if x>0),
     'request':{'method':method,'url':url,'httpVersion':ver,'cookies':[],'headers':[{'name':'Accept','value':'application/json'},{'name':'Authorization','value':'REDACTED'},{'name':'User-Agent','value':'Reader/4.2 (Linux; Swift 6.3)'}],
       'queryString':[dict(zip(('name','value'),p.split('=',1))) for p in url.split('?')[1].split('&')] if '?' in url else [],'headersSize':-1,'bodySize':len(req or '')},
     'response':{'status':status,'statusText':st,'httpVersion':ver if status else '','cookies':[],'headers':([{'name':'Content-Type','value':mime},{'name':'Cache-Control','value':'max-age=60'},{'name':'Date','value':'Sun, 22 Nov 2026 09:41:02 GMT'},{'name':'ETag','value':'"5f0c"'},{'name':'Set-Cookie','value':'REDACTED'}] if status else []),
       'content':{'size':size,'mimeType':mime},'redirectURL':'','headersSize':-1,'bodySize':size},
     'cache':{},'timings':{'blocked':-1,'dns':dns,'connect':con,'ssl':ssl,'send':send,'wait':wait,'receive':recv},'_id':str(i),'_state':state,'_source':source,'_bodySize':size}
    if text is not None: e['response']['content']['text']=text
    if req: e['request']['postData']={'mimeType':'application/json','text':req}
    if ip and status: e['serverIPAddress']=ip
    if err: e['_error']=err
    if phase: e['_phase']=phase
    if attempts: e['_attempts']=attempts
    return e
def har(entries): return {'log':{'version':'1.2','creator':{'name':'Waylay','version':'0.1.0'},'entries':entries}}
feed=json.dumps({"items":[{"id":9007199254740993,"title":"Night trains return to the Alps","author":{"name":"Ada Nkemelu","verified":True},"words":1840,"score":0.93,"tags":["travel","rail"],"summary":None},{"id":1182,"title":"A field guide to city moss","author":{"name":"Jonas Lind","verified":False},"words":960,"score":0.71,"tags":[]}],"next":"/v1/feed?page=2"})
E=[]; at=0
def add(gap,*a,**k):
    global at; at+=gap; E.append(entry(len(E)+1,at,*a,**k))
add(0,'GET','https://api.example.com/v1/session',200,'OK','application/json',412,(18,41,26,0.4,62,1.2),'{"user":"ada","token":"REDACTED"}',attempts=[{'address':'[2001:db8::7]:443','at':18,'time':12.4,'error':'connection refused','phase':'connecting'},{'address':'203.0.113.7:443','at':30.4,'time':92.1,'status':200}])
add(95,'GET','https://api.example.com/v1/feed?page=1&limit=20&sort=recent',200,'OK','application/json; charset=utf-8',18432,(-1,-1,-1,0.3,88,9),feed)
add(8,'GET','https://images.example.net/covers/alps-1200.avif?w=1200',200,'OK','image/avif',184320,(9,22,14,0.2,31,64),None)
add(3,'GET','https://images.example.net/covers/moss-1200.avif?w=1200',200,'OK','image/avif',96512,(-1,-1,-1,0.2,40,38),None)
add(4,'GET','https://images.example.net/avatars/ada.webp',304,'Not Modified','image/webp',0,(-1,-1,-1,0.2,19,0.1),'')
add(2,'GET','https://fonts.example.org/inter/variable.woff2',200,'OK','font/woff2',324118,(-1,-1,-1,0,0.4,1.1),None,source='archive',ip=None)
add(40,'POST','https://telemetry.example.com/v2/events',202,'Accepted','application/json',17,(14,33,20,1.8,44,0.3),'{"accepted":true}',req='{"events":[{"name":"open","at":1763804462},{"name":"scroll","depth":0.4}]}')
add(60,'GET','https://api.example.com/v1/articles/1182',404,'Not Found','application/problem+json',141,(-1,-1,-1,0.2,37,0.4),'{"type":"about:blank","title":"Not Found","status":404,"detail":"There is no article 1182."}')
add(25,'GET','https://api.example.com/v1/articles/9007199254740993/comments?after=0',200,'OK','application/json',6210,(-1,-1,-1,0.2,412,14),'{"comments":[]}')
add(12,'PUT','https://api.example.com/v1/bookmarks/9007199254740993',204,'No Content','',0,(-1,-1,-1,0.3,51,0),'',req='{"folder":"later"}')
add(90,'GET','https://search.example.com/suggest?q=night+tr',0,'','',-1,(21,-1,-1,0,0,0),None,state='failed',err='The name search.example.com could not be resolved: NXDOMAIN from 3 resolvers.',phase='resolving')
add(30,'GET','https://api.example.com/v1/recommendations?for=9007199254740993',503,'Service Unavailable','text/html',612,(-1,-1,-1,0.2,1240,2),'<html><body><h1>503</h1><script>document.title="pwned"</script></body></html>')
add(44,'GET','https://api.example.com/v1/recommendations?for=9007199254740993',200,'OK','application/json',9120,(-1,-1,-1,0.2,205,6),'{"items":[]}')
add(12,'GET','https://payments.example.com/v3/plans',200,'OK','application/json',733,(-1,-1,-1,0,0.1,0.1),'{"plans":[{"id":"yearly","price":39.0}]}',source='mocked',ip=None)
add(10,'DELETE','https://api.example.com/v1/bookmarks/7',301,'Moved Permanently','text/plain',0,(-1,-1,-1,0.2,28,0),'')
add(35,'GET','https://cdn.example.org/audio/episode-118.m4a',200,'OK','audio/mp4',2411724,(11,25,16,0.3,48,731),None)
add(40,'GET','https://pinned.example.com/keys',0,'','',-1,(12,31,19,0,0,0),None,state='failed',err='The certificate of pinned.example.com is not one that is trusted: no address of three presented it.',phase='securing',attempts=[{'address':'198.51.100.4:443','at':12,'time':31.2,'error':'the certificate is not trusted','phase':'securing'},{'address':'198.51.100.9:443','at':12,'time':30.8,'error':'the certificate is not trusted','phase':'securing'}])
add(20,'GET','https://live.example.com/v1/events?stream=feed',200,'OK','text/event-stream',1210,(8,19,12,0.2,33,840),'event: item\ndata: {"id":1}\n\n',state='open')
add(15,'HEAD','https://images.example.net/covers/rail-2400.avif',200,'OK','image/avif',0,(-1,-1,-1,0.2,22,0),'')
add(60,'PATCH','https://api.example.com/v1/profile',422,'Unprocessable Content','application/json',96,(-1,-1,-1,0.6,66,0.4),'{"errors":[{"field":"name","reason":"too long"}]}',req='{"name":"REDACTED"}')
for k in range(14):
    add(random.randint(6,70),'GET',f'https://images.example.net/tiles/{k}/{k*7%13}.png',200,'OK','image/png',random.randint(900,60000),(-1,-1,-1,0.1,random.randint(12,70),random.randint(1,22)),None)
json.dump(har(E), sys.stdout)
PY
Scripts/page.sh --try "$work/traffic.har" "$work/page.html"
mkdir -p Documentation.docc/Resources
for theme in light dark; do
  file=Documentation.docc/Resources/inspector$([ $theme = light ] || echo '~dark').png
  timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars --user-data-dir="$work/profile" --window-size=1240,700 \
    --virtual-time-budget=3000 --screenshot="$PWD/$file" "file://$work/page.html#theme=$theme&open=2&tab=response" >/dev/null 2>&1
  echo "$file: $(wc -c <"$file") bytes"
done
