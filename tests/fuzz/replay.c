/*
 * The main of a harness in a build without libFuzzer: gives it each file named on the command line, once.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int replay(const char *path)
{
	FILE *file = fopen(path, "rb");
	uint8_t *data = NULL;
	long size = -1;

	if (file != NULL && fseek(file, 0, SEEK_END) == 0)
		size = ftell(file);
	if (size >= 0)
		data = malloc(size > 0 ? (size_t)size : 1);
	if (data == NULL || fseek(file, 0, SEEK_SET) != 0 ||
	    fread(data, 1, (size_t)size, file) != (size_t)size) {
		perror(path);
		return 1;
	}
	fclose(file);
	fprintf(stderr, "%s\n", path);
	LLVMFuzzerTestOneInput(data, (size_t)size);
	free(data);
	return 0;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		failed |= replay(argv[i]);
	return failed;
}
