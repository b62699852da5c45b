// Tries to fill the host through the streams
for (;;) process.stderr.write("\u0000")
