# vector: threads without end
import threading
event = threading.Event()
threads = [threading.Thread(target=event.wait, daemon=True) for _ in range(400)]
try:
    for thread in threads:
        thread.start()
finally:
    event.set()
return True
